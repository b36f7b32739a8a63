// Peer is what ops-pod-cleaner is measured against: the same duty in the usual design on client-go. A shared informer
// of all pods fills a rate-limited queue of keys, and a few goroutines take them and delete the pods that were evicted.
// It keeps whole objects, reads no pod again before it deletes, and writes nothing down.
//
// It prints one line on stdout when its cache is complete, and SIGTERM ends it:
//
//	synced <seconds since 1970> <pods in the cache>
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
)

const (
	protobuf     = "application/vnd.kubernetes.protobuf"
	attempts     = 5
	firstBackoff = 5 * time.Millisecond
	lastBackoff  = 1000 * time.Second
)

type options struct {
	kubeconfig string
	namespace  string // where it deletes; everything is watched
	workers    int
	protobuf   bool
	qps        float64
	burst      int
}

func parse() options {
	var o options
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "how to reach the API server")
	flag.StringVar(&o.namespace, "namespace", "bench", "delete evicted pods of this namespace")
	flag.IntVar(&o.workers, "workers", 4, "goroutines that delete")
	flag.BoolVar(&o.protobuf, "protobuf", false, "speak protobuf, not JSON")
	flag.Float64Var(&o.qps, "qps", 5, "requests a second, client-go's default; -1: no limit")
	flag.IntVar(&o.burst, "burst", 10, "requests beyond it, client-go's default")
	flag.Parse()
	return o
}

func client(o options) (*kubernetes.Clientset, error) {
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = float32(o.qps), o.burst
	// Said either way: what a typed client does without being told changed with client-go 0.33.
	config.ContentType, config.AcceptContentTypes = "application/json", "application/json"
	if o.protobuf {
		config.ContentType, config.AcceptContentTypes = protobuf, protobuf+",application/json"
	}
	return kubernetes.NewForConfig(config)
}

func evicted(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed && pod.Status.Reason == "Evicted"
}

type peer struct {
	client    *kubernetes.Clientset
	pods      cache.SharedIndexInformer
	queue     workqueue.TypedRateLimitingInterface[string]
	namespace string
}

func (p *peer) enqueue(object any) {
	pod, ok := object.(*corev1.Pod)
	if !ok || pod.Namespace != p.namespace || !evicted(pod) {
		return
	}
	if key, err := cache.MetaNamespaceKeyFunc(pod); err == nil {
		p.queue.AddRateLimited(key)
	}
}

func (p *peer) remove(ctx context.Context, key string) error {
	object, exists, err := p.pods.GetStore().GetByKey(key)
	if err != nil || !exists {
		return err
	}
	pod := object.(*corev1.Pod)
	if !evicted(pod) || pod.DeletionTimestamp != nil {
		return nil
	}
	now := int64(0)
	err = p.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &pod.UID}})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func (p *peer) next(ctx context.Context) bool {
	key, ended := p.queue.Get()
	if ended {
		return false
	}
	defer p.queue.Done(key)
	err := p.remove(ctx, key)
	if err != nil && p.queue.NumRequeues(key) < attempts {
		p.queue.AddRateLimited(key)
		return true
	}
	p.queue.Forget(key)
	return true
}

// limiter is client-go's default for a queue: a backoff for each key, and 10 keys a second with bursts of 100 over
// all. The second part goes away together with the client's own limit.
func limiter(qps float64) workqueue.TypedRateLimiter[string] {
	each := workqueue.NewTypedItemExponentialFailureRateLimiter[string](firstBackoff, lastBackoff)
	if qps < 0 {
		return each
	}
	return workqueue.NewTypedMaxOfRateLimiter(each,
		&workqueue.TypedBucketRateLimiter[string]{Limiter: rate.NewLimiter(rate.Limit(10), 100)})
}

func run(ctx context.Context, o options) error {
	c, err := client(o)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(c, 0)
	p := &peer{client: c, pods: factory.Core().V1().Pods().Informer(), namespace: o.namespace,
		queue: workqueue.NewTypedRateLimitingQueue(limiter(o.qps))}
	_, err = p.pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: p.enqueue, UpdateFunc: func(_, now any) { p.enqueue(now) }})
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	for !p.pods.HasSynced() { // cache.WaitForCacheSync looks only every 100 ms
		if ctx.Err() != nil {
			return ctx.Err()
		}
		time.Sleep(time.Millisecond)
	}
	fmt.Printf("synced %.3f %d\n", float64(time.Now().UnixNano())/1e9, len(p.pods.GetStore().ListKeys()))
	for range o.workers {
		go func() {
			for p.next(ctx) {
			}
		}()
	}
	<-ctx.Done()
	p.queue.ShutDown()
	return nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, parse()); err != nil {
		fmt.Fprintln(os.Stderr, "peer:", err)
		os.Exit(1)
	}
}
